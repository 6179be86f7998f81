"""The reference method: direct collocation in CasADi, solved by Ipopt with exact derivatives."""
