import { Anchor, Center, Stack, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { text } from '../messages/index.js';
import { Page, useTitle } from '../ui/page.js';
import { ServiceProblem } from '../service/client.js';
import { PageOutOfReach, reloadOnceReached, useReturn } from '../service/page-code.js';
import { Problem } from '../ui/problem.js';
import { titleOf } from '../ui/problem-title.js';

/** Shown in place of everything if the frame of the pages failed. */
export function Failed(props: ErrorComponentProps) {
  useTitle(titleOf(props.error));
  return (
    <main>
      <Reason {...props} />
    </main>
  );
}

/** Shown in the frame, in place of a page that failed. */
export function FailedPage(props: ErrorComponentProps) {
  return (
    <Page title={titleOf(props.error)}>
      <Reason {...props} isTitled />
    </Page>
  );
}

function Reason({ error, reset, isTitled = false }: ErrorComponentProps & { readonly isTitled?: boolean }) {
  const isAway = error instanceof PageOutOfReach;
  useReturn(isAway);
  return (
    <Stack gap="md">
      <Problem error={error} isTitled={isTitled} onRetry={isAway ? () => void reloadOnceReached() : reset} />
      {/* A retry would not help with what is missing or forbidden. */}
      {error instanceof ServiceProblem && [403, 404].includes(error.status) ? (
        <Anchor href="/console/">{text.common.home}</Anchor>
      ) : null}
    </Stack>
  );
}

/** Shown in the frame of an account for an unknown address. */
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
