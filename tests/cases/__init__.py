"""Tests of Dovecote."""
