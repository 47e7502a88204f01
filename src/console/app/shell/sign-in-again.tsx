import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useEffectEvent } from 'react';
import { text } from '../messages/index.js';
import { forgetSession, keptSession, sessionQuery, useSession } from '../service/session.js';
import { askOverPage, useIsAsked } from '../service/typed.js';
import { useFocusReturned } from '../ui/focus.js';

const SignInForm = lazy(async () => ({ default: (await import('../pages/account/sign-in.js')).SignInForm }));
/** Above forms, drawers and menus. */
const ABOVE_ALL = 1_000;

/** Sign-in over a page with unsaved input, after the session has ended. */
export function SignInAgain() {
  return useIsAsked() ? <Asked /> : null;
}

function Asked() {
  useFocusReturned();
  const { person } = useSession();
  const goOn = useGoOn(person.id);
  const router = useRouter();
  const leave = (): void => {
    const { href } = router.state.location;
    forgetSession();
    void router.navigate({ to: '/sign-in', search: { to: href }, replace: true });
  };
  const lookAgain = useEffectEvent(() => {
    // If nobody has signed in elsewhere, or the session cannot be read, the person signs in here.
    if (document.visibilityState === 'visible') goOn().catch(() => undefined);
  });
  useEffect(() => {
    const look = (): void => {
      lookAgain();
    };
    addEventListener('visibilitychange', look);
    return () => {
      removeEventListener('visibilitychange', look);
    };
  }, []);
  return (
    <Modal
      opened
      onClose={leave}
      title={text.signIn.title}
      zIndex={ABOVE_ALL}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Text>{text.signIn.ended}</Text>
        <Suspense fallback={<Text c="dimmed">{text.common.loading}</Text>}>
          <SignInForm link={undefined} email={person.email ?? ''} onDone={goOn} />
        </Suspense>
        <Group justify="space-between">
          <Anchor href="/console/sign-in" target="_blank" rel="noopener" size="sm">
            {text.signIn.elsewhere}
          </Anchor>
          <Button variant="default" size="xs" onClick={leave}>
            {text.signIn.leave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/**
 * Continues after a sign-in here or in another tab. Only the same person goes on, so that nobody else sees the input.
 */
function useGoOn(id: string): () => Promise<void> {
  const cache = useQueryClient();
  return async () => {
    const session = await keptSession();
    if (session.person.id !== id) {
      location.assign('/console/');
      return;
    }
    cache.setQueryData(sessionQuery.queryKey, session);
    askOverPage(false);
    await cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  };
}
