"""What is counted: `usage_meter` what providers are used for, shown by `usage_report`; `spending_notes`
and `dir_budgets` what is told when money or room for files runs out."""
