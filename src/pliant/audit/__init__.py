"""Independent audits of runs and of other programs' files: do surfaces pass through each other?"""

from pliant.audit.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
