/** Options shared by several commands. */
import { Option } from 'commander';

export const configOption = () => new Option('--config <file>', 'settings file');
export const accountOption = () => new Option('--account <name>', 'account (default: the configured one)');
export const jsonOption = () => new Option('--json', 'print JSON, for scripts');
