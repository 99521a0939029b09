"""The checks of `lint`, one theme a file. Each yields findings and looks at nothing but `Subject`."""
