"""Exit codes: what a script that calls the command line can rely on."""

SUCCESS = 0
ENDED_WITHOUT_SUCCESS = 1
WRONG_USE = 2
PROVIDER_FAILED = 3
AWAITING_APPROVAL = 4
INTERRUPTED = 130
READER_GONE = 141
"""What a shell calls a program that was ended by SIGPIPE."""
