export { createControlSocket, type ControlSocket } from './control-socket.js';
export { loggedConnectionRoom } from './connection-room.js';
export { createHttpServer, ListenError, type HttpServer } from './server.js';
export { createRequestServer, type RequestServer } from './request-handler.js';
export { SITE_PATH, type PageAnswer, type PageRequest, type Site } from './site.js';
