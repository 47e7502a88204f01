import { AppShell, Burger, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { text } from '../messages/index.js';
import { useAccount } from '../service/session.js';
import { returnFocus } from '../ui/focus.js';
import { Commands, openCommands } from './commands.js';
import { Jobs } from './jobs.js';
import { Navigation } from './navigation.js';
import { PersonMenu } from './person-menu.js';
import { SignInAgain } from './sign-in-again.js';

/** Frame of every page for a signed-in person. */
export function Frame() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const account = useAccount();
  useFocusOnNextPage();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="lg"
    >
      <a className="skip" href="#content">
        {text.shell.skip}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={text.shell.menu} />
            <Link to="/$account" params={{ account }} style={{ color: 'inherit', textDecoration: 'none' }}>
              <Text fw={700}>{text.product}</Text>
            </Link>
            <Text c="dimmed" size="sm" truncate title={account} visibleFrom="sm" maw={260}>
              {account}
            </Text>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Button variant="default" size="xs" onClick={openCommands} visibleFrom="xs">
              {text.shell.commands}
            </Button>
            <Jobs />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" style={{ overflowY: 'auto' }} aria-label={text.shell.navigation}>
        <Navigation onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Suspense fallback={<Text c="dimmed">{text.common.loading}</Text>}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <Commands />
      <SignInAgain />
    </AppShell>
  );
}

/** Moves the focus to the next page if the link to it is gone. The first page begins at its top. */
function useFocusOnNextPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation !== undefined && pathChanged) returnFocus(null);
      }),
    [router],
  );
}
