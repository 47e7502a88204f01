import { Badge, Button, Popover, Progress, Stack, Text } from '@mantine/core';
import { text } from '../messages/index.js';
import { useJobs, type Job } from '../service/jobs.js';
import { count } from '../ui/format.js';

/** Background jobs, shown on every page. Nothing if there are none. */
export function Jobs() {
  const { jobs, job_count: jobCount, isLost } = useJobs();
  if (isLost) {
    return (
      <Badge color="orange" variant="light" role="status" title={text.jobs.lostHint}>
        {text.jobs.lost}
      </Badge>
    );
  }
  if (jobs.length === 0) return null;
  return (
    <Popover width={320} position="bottom-end">
      <Popover.Target>
        <Button variant="default" size="xs">
          {text.jobs.running(jobCount)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack component="ul" gap="md" m={0} p={0} mah={400} style={{ listStyle: 'none', overflowY: 'auto' }}>
          {jobs.map((job) => (
            <JobItem key={`${job.kind} ${job.name}`} job={job} />
          ))}
          {jobCount > jobs.length && (
            <Text component="li" size="xs" c="dimmed">
              {text.jobs.more(jobCount - jobs.length)}
            </Text>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function JobItem({ job }: { readonly job: Job }) {
  const { kind, name, state, done, total, seconds_left, message } = job;
  const what = text.jobs.what(text.jobs.kinds[kind] ?? kind, name);
  return (
    <Stack component="li" gap={4}>
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {what}
      </Text>
      {total === null || total === 0 ? null : <Progress value={(100 * done) / total} aria-label={what} />}
      <Text size="xs" c="dimmed">
        {[
          state === 'waiting' ? text.jobs.waiting : undefined,
          total === null ? text.jobs.done(count(done)) : text.jobs.doneOf(count(done), count(total)),
          seconds_left === null ? undefined : text.jobs.left(Math.ceil(seconds_left)),
          message ?? undefined,
        ]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </Text>
    </Stack>
  );
}
