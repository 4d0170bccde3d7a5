"""The exceptions that the command line shows as a short message; no other kind belongs here."""


class UserError(Exception):
    """A mistake that the user can mend.

    The message names the file, key, row or value at fault and the way out. The command line
    prints it without a stack trace and exits with status 2.
    """


class RunError(Exception):
    """A failure while running (disk full, loss not finite): same short message, status 1."""
