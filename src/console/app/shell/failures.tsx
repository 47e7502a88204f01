import { Anchor, Center, Stack, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { text } from '../messages/index.js';
import { Page, useTitle } from '../ui/page.js';
import { ServiceProblem } from '../service/client.js';
import { Problem, titleOf } from '../ui/problem.js';

/** In the place of a page that could not be shown. */
export function Failed({ error, reset }: ErrorComponentProps) {
  useTitle(titleOf(error));
  return (
    <Stack component="main" gap="md">
      <Problem error={error} onRetry={reset} />
      {/* What is not there, or not for this person, is so again when it is tried again. */}
      {error instanceof ServiceProblem && [403, 404].includes(error.status) ? (
        <Anchor href="/console/">{text.common.home}</Anchor>
      ) : null}
    </Stack>
  );
}

/** In the frame of an account, whose pages stay within reach. */
export function NoPage() {
  return (
    <Page title={text.problems.noPage} lead={text.problems.noPageLead}>
      <Anchor href="/console/">{text.common.home}</Anchor>
    </Page>
  );
}

export function NotFound() {
  useTitle(text.problems.noPage);
  return (
    <Center component="main" mih="60vh">
      <Stack align="center">
        <Title order={1}>{text.problems.noPage}</Title>
        <Anchor href="/console/">{text.common.home}</Anchor>
      </Stack>
    </Center>
  );
}
