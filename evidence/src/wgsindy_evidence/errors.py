"""What can go wrong in the evidence: a sentence with the offending value and a way out."""

from __future__ import annotations

from wgsindy.errors import WgsindyError


class CampaignError(WgsindyError):
    """A campaign, or a document made from its lines, was asked for what it cannot give."""
