"""Powers of the joints and components of contact forces: variables of a result, and what is read from them."""
