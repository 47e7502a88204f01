export { createControlSocket, type ControlSocket } from './control-socket.js';
export { loggedConnectionRoom } from './connection-room.js';
export { assertCanListen } from './listening.js';
export { createHttpServer, type HttpServer } from './server.js';
export { createRequestServer, type RequestServer } from './request-handler.js';
export { ROOT_PATH, SITE_PATH, takes, type PageAnswer, type PageRequest, type Site } from './site.js';
export { assertCanCarry, webServerOf } from './web-server.js';
export type { WebServerName } from './wire.js';
