/** What is mounted where, as the system tells each process: `/proc/self/mountinfo`. Pure functions. */

export interface Mount {
  /** As `8:1`: it is the same however often a disk is mounted. */
  readonly disk: string;
  /** What of the file system is mounted. */
  readonly root: string;
  readonly at: string;
  /** As `ext4`. */
  readonly type: string;
  /** Of the file system. */
  readonly options: readonly string[];
}

/** A number of fields that differs stands before the type; ` - ` ends them. What is mounted may have no name. */
const LINE = /^\S+ \S+ (?<disk>\S+) (?<root>\S+) (?<at>\S+) .*?- (?<type>\S+) \S* (?<options>\S*)/u;

export function mountsOf(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const { disk, root, at, type, options = '' } = LINE.exec(line)?.groups ?? {};
    if (disk === undefined || root === undefined || at === undefined || type === undefined) return [];
    return [{ disk, root: plain(root), at: plain(at), type, options: options.split(',') }];
  });
}

/** Spaces and the like are written as `\\040`. */
function plain(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/gu, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
