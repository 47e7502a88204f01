import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { searchResultDeleteMatching, searchResultDeleteMatchingSchemas } from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { prose } from '../../ui/prose.js';
import { useListParams } from './list-frame.js';

/** Removes whatever a filter matches. */
export function DeleteMatching() {
  const params = useListParams();
  const remove = useChange(searchResultDeleteMatching);
  const [filter, setFilter] = useState('');
  return (
    <ConfirmButton
      label={text.records.deleteMatching}
      question={
        <TextInput
          component="input"
          label={text.records.filter}
          description={prose(searchResultDeleteMatchingSchemas.query.properties.filter.description)}
          value={filter}
          required
          onChange={(event) => {
            setFilter(event.currentTarget.value);
          }}
        />
      }
      onConfirm={() => remove.mutateAsync({ params, query: { filter } })}
    />
  );
}
