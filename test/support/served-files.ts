/** A web server with files at paths. Query strings are ignored; other paths are answered 404. */
import { ScriptedServer, type Script } from './scripted-server.js';

export function servingFiles(files: ReadonlyMap<string, Uint8Array>): Script {
  return ({ path }, response) => {
    const bytes = files.get(path.replace(/\?.*$/u, ''));
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  };
}

/** The map may change later. */
export async function startFileServer(files: ReadonlyMap<string, Uint8Array>): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  server.script = servingFiles(files);
  return server;
}
