"""What a packet meets on its way out of a node: security rules, routes, and the address it leaves from.

Pure: rules and routes go in as Azure keeps them, a verdict with the line that proves it comes out.

packet   what is sent, where to, and what of the network around it is known
tags     places that a rule names: prefixes and service tags
rules    security groups: which rule decides, as far as names of tags and prefixes can tell
routes   the route table: where the longest prefix leads
exits    load balancer or NAT gateway: is there an address to leave from?
way      all of it, in the order in which a packet meets it
needed   what nodes must reach
"""
