"""Money: what a site costs by the hour, and what serving costs by the token."""

from tandem.plan.cost.site import CostPart, CostReport, site_cost

__all__ = ["CostPart", "CostReport", "site_cost"]
