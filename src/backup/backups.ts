/** One backup at a time. */
import { relative, resolve } from 'node:path';
import { ServiceError, serviceKey, type ProgressBoard, type ServiceKey } from '../platform/index.js';
import { makeBackup, type BackupRequest, type BackupSource, type MadeBackup } from './make-backup.js';

export const BACKUPS: ServiceKey<Backups> = serviceKey('backups');

export class Backups {
  private isRunning = false;

  constructor(
    private readonly source: BackupSource,
    private readonly progress: ProgressBoard,
    private readonly account: string,
  ) {}

  /** Rejects with `conflict` while another one is made. */
  async make(request: BackupRequest): Promise<MadeBackup> {
    const { dataDir, log } = this.source;
    if (isWithin(request.folder, dataDir)) {
      throw new ServiceError(
        'invalid-parameter',
        `${request.folder} is in the data directory, which it would copy into itself.`,
        {
          errors: [{ pointer: '/folder', detail: 'Must be a folder outside the data directory.' }],
        },
      );
    }
    if (this.isRunning) throw new ServiceError('conflict', 'A backup is being made: wait for its end.');
    this.isRunning = true;
    const job = this.progress.begin({
      kind: 'backup',
      subject: dataDir,
      owner: { account: this.account, name: request.folder, permission: 'backup:create' },
      total: null,
    });
    job.start();
    try {
      const made = await makeBackup(this.source, request, job);
      const { path, lists, bytes, bytes_shared: bytesShared } = made;
      log.info({ path, lists, bytes, bytesShared }, 'a backup is made');
      job.finish();
      return made;
    } catch (error) {
      job.fail(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.isRunning = false;
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return way === '' || !(way === '..' || way.startsWith('../') || way.startsWith('/'));
}
