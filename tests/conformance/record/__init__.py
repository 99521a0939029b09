"""What real ADKs do with cases: `record.py` says how."""
