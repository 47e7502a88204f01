/**
 * Returns the port on which a server listens.
 * @param {import('node:net').Server} server
 */
export const portOf = (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port;
