import { Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { serviceState, type ServiceStateOutput } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { bytes, count, time } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { When } from '../../ui/when.js';
import { Figure } from './health-summary.js';
import { Troubles } from './troubles.js';

const READ_MS = 15_000;
/** Share of the disk from which space should be freed. */
const FULL = 0.9;
const FOLDERS_MAX = 6;

/** Reads the state of the service repeatedly, if the person may see it. */
export function useStanding() {
  const account = useAccount();
  const enabled = useMay()(serviceState);
  const query = { ...reading(serviceState, { params: { account } }), refetchInterval: READ_MS, enabled };
  return { ...useQuery(query), enabled };
}

/** For operators: the most important facts, over all accounts. */
export function Standing() {
  const state = useStanding();
  return (
    <Section title={text.health.standing}>
      <Problem error={state.error} />
      {state.data === undefined ? null : <Told state={state.data} />}
    </Section>
  );
}

function Told({ state }: { readonly state: ServiceStateOutput }) {
  return (
    <Stack>
      <Databases databases={state.databases} />
      <Troubles state={state} />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        <Disk disk={state.disk} />
        <Backup backup={state.backup} />
        <Figure title={text.health.release} value={text.health.releaseOf(state.release, state.node)}>
          <Text size="sm">
            {text.health.since} <When iso={state.started_utc} />
          </Text>
        </Figure>
        <Figure
          title={text.health.allLists}
          value={text.health.allListsOf(count(state.lists.all), count(state.lists.open), count(state.lists.rebuilding))}
        />
      </SimpleGrid>
    </Stack>
  );
}

function Disk({ disk }: { readonly disk: ServiceStateOutput['disk'] }) {
  if (disk === null) return <Figure title={text.health.disk} value={text.health.diskSilent} />;
  const used = disk.bytes === 0 ? 0 : 1 - disk.free_bytes / disk.bytes;
  const folders = disk.used.slice(0, FOLDERS_MAX).map(({ name, bytes: size }) => `${name} ${bytes(size)}`);
  return (
    <Figure title={text.health.disk} value={text.health.diskOf(bytes(disk.free_bytes), bytes(disk.bytes))}>
      <Progress aria-label={text.health.diskUsed} value={100 * used} color={used >= FULL ? 'red' : 'blue'} />
      <Text size="sm" c="dimmed">
        {text.health.dataTakes}: {folders.join(', ')}
      </Text>
    </Figure>
  );
}

function Backup({ backup: { last, failure } }: Pick<ServiceStateOutput, 'backup'>) {
  return (
    <Figure title={text.health.backup} value={last === null ? text.health.noBackup : time(last.finished_utc)}>
      {last === null ? null : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {bytes(last.bytes)}, {last.path}
        </Text>
      )}
      {failure === null ? null : (
        <Text size="sm" c="red">
          {text.health.backupFailed} <When iso={failure.at_utc} /> {failure.detail}
        </Text>
      )}
    </Figure>
  );
}

function Databases({ databases: { unreadable, set_aside: setAside } }: Pick<ServiceStateOutput, 'databases'>) {
  const told = [...unreadable.map(text.health.unreadable), ...setAside.map(text.health.setAside)];
  return told.map((each) => (
    <Text key={each} c="red" style={{ overflowWrap: 'anywhere' }}>
      {each}
    </Text>
  ));
}
