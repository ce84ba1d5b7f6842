"""Chat network adapters, each behind the `Channel` Protocol.

`base` is what they share: the inbox, and a link that is kept up. `catalog` makes those that the settings
switch on. `console` is the terminal as a chat network and is always there; a network with more to it is a
package of its own (`whatsapp`). Imports `core`, `paths`, `settings`
and `contracts`.
"""
