import { Anchor, Center, Stack, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { text } from '../messages/index.js';
import { useTitle } from '../ui/page.js';
import { Problem } from '../ui/problem.js';

/** In the place of a page that could not be shown. */
export function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <main>
      <Problem error={error} onRetry={reset} />
    </main>
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
