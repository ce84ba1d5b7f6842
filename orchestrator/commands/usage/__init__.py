"""What is counted: `usage_meter` what providers are used for, shown by `usage_report`; `budgets` and
`budget_notes` what is told when money or room runs out."""
