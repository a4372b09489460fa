"""Logs on other machines, over the system's ssh.

    address ─► shell: one ssh, a POSIX sh at its far end ─► listing: which runs are there
                                                         ─► remote_log: bytes ─► mirror, a growing local file

Everything else reads the mirror as it reads any log.
"""
