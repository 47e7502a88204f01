import { Alert, Button, Group, Text } from '@mantine/core';
import { Link, useNavigate, type ErrorComponentProps } from '@tanstack/react-router';
import { text } from '../../messages/index.js';
import { listDelete, ServiceProblem, type ListListOutput } from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Page } from '../../ui/page.js';
import { useListParams } from './list-frame.js';

type Unavailable = NonNullable<ListListOutput['unavailable']>[number];

/** Shown in place of the pages of a list that is unavailable. */
export function UnavailablePage({ error, reset }: ErrorComponentProps) {
  const { account, list } = useListParams();
  const navigate = useNavigate();
  const code = error instanceof ServiceProblem ? error.code : '';
  return (
    <Page title={list}>
      <UnavailableList
        name={list}
        code={code}
        detail={error instanceof Error ? error.message : text.problems.unexpected}
        onDeleted={() => navigate({ to: '/$account/lists', params: { account } })}
      />
      <Group>
        <Button variant="default" size="xs" onClick={reset}>
          {text.common.retry}
        </Button>
        <Button
          renderRoot={(props) => <Link to="/$account/lists" params={{ account }} {...props} />}
          variant="default"
          size="xs"
        >
          {text.lists.title}
        </Button>
      </Group>
    </Page>
  );
}

/** An unavailable list: what is wrong and, if that is a solution, a button to delete it. */
export function UnavailableList({
  name,
  code,
  detail,
  onDeleted,
}: Unavailable & { readonly onDeleted?: () => Promise<void> }) {
  const account = useAccount();
  const may = useMay();
  const remove = useChange(listDelete);
  return (
    <Alert color="red" role="alert" title={text.lists.unavailable(name)}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {detail} ({code})
      </Text>
      {code === 'list-damaged' && may(listDelete) ? (
        <Group mt="sm">
          <ConfirmButton
            label={text.settings.delete}
            question={text.lists.deleteDamagedQuestion(name)}
            typed={name}
            onConfirm={async () => {
              await remove.mutateAsync({ params: { account, list: name } });
              await onDeleted?.();
            }}
          />
        </Group>
      ) : null}
    </Alert>
  );
}
