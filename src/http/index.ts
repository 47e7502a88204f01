export { createControlSocket, type ControlSocket } from './control-socket.js';
export { createHttpServer, ListenError, type HttpServer } from './server.js';
export { createRequestDesk, type RequestDesk } from './request-handler.js';
