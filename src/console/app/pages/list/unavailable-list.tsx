import { Alert, Group, Text } from '@mantine/core';
import { text } from '../../messages/index.js';
import { listDelete, type ListListOutput } from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';

type Unavailable = NonNullable<ListListOutput['unavailable']>[number];

/** A list that cannot be asked, with what is wrong and, where that is one of the ways out, its deletion: it has no page of its own. */
export function UnavailableList({ name, code, detail }: Unavailable) {
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
            onConfirm={() => remove.mutateAsync({ params: { account, list: name } })}
          />
        </Group>
      ) : null}
    </Alert>
  );
}
