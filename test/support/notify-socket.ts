/** Receives a service's messages to its service manager. In Python, since Node.js has no datagram Unix sockets. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const LISTENER = `
import json, socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print('"listening"', flush=True)
while True:
    print(json.dumps(heard.recv(65536).decode()), flush=True)
`;

export interface NotifySocket {
  /** Every message so far, in their order. */
  readonly heard: readonly string[];
  close(): void;
}

/** Resolves once it listens at this path, which must not be there yet. */
export async function listenForNotes(path: string): Promise<NotifySocket> {
  const child = spawn('python3', ['-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const heard: string[] = [];
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => {
      reject(new Error(`Nobody listens at ${path}`));
    });
    lines.once('line', () => {
      lines.on('line', (line) => heard.push(JSON.parse(line) as string));
      resolve();
    });
  });
  return { heard, close: () => void child.kill('SIGKILL') };
}
