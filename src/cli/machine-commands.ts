/** Commands for setting up the service: settings, systemd unit, and the server for agents. */
import type { Command } from 'commander';
import type { McpOptions } from './commands/mcp.js';
import type { SystemdUnitOptions } from './commands/systemd-unit.js';
import type { CommandParts } from './webhook-commands.js';

export function addMachineCommands(program: Command, { run, shared }: Pick<CommandParts, 'run' | 'shared'>): void {
  // `options` selects among `--config`, `--account` and `--json`.
  const add = (name: string, description: string, options: readonly string[]): Command => {
    const command = program.command(name).description(description);
    for (const option of shared()) if (options.includes(option.name())) command.addOption(option);
    return command;
  };
  add('settings', 'print every setting with its meaning, default and environment variable, as a settings file', [
    'config',
  ]).action(() => run(async (context) => (await import('./commands/settings.js')).settings(context)));
  add('systemd-unit', 'print the systemd unit that starts the service with the machine and keeps it running', [
    'config',
  ])
    .option('--user <name>', 'user that the service runs as', 'gannet')
    .option('--data <folder>', 'data directory of the service', '/var/lib/gannet')
    .action((options: SystemdUnitOptions) =>
      run(async (context) => (await import('./commands/systemd-unit.js')).systemdUnit(context, options)),
    );
  add(
    'mcp',
    'offer the operations of the service as tools to the agent that starts this command (Model Context Protocol over standard input and output)',
    ['config', 'account'],
  )
    .option('--read-only', 'only tools that read and search')
    .option('--tools <names>', 'only these tools, such as search_*,list_read; `*` stands for any characters')
    .action((options: McpOptions) =>
      run(async (context) => (await import('./commands/mcp.js')).serveAgent(context, options)),
    );
}
