"""What a result holds where tendons are elastic: variables, attributes, and why reserves were needed."""
