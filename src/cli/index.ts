/** The command line: `gannet --help`. */
export { runCommandLine } from './command-line.js';
export type { RunningService, ServiceEntry, ServiceLoader } from './service-loader.js';
