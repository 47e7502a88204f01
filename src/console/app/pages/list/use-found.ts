/** Searches the list in the address, by words or by a picture. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { SearchState } from '../../page-state.js';
import { searchImage, searchList } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { readingByPicture, type Picture } from '../search/picture.js';
import { useList, useListParams } from './list-frame.js';
import { bodyOf, withinAnswer } from './search-body.js';

/** Searches by words if `picture` is undefined. */
export function useFound(options: SearchState, picture?: Picture) {
  const { current_version, record_count } = useList();
  const params = { ...useListParams(), version: String(current_version) };
  const body = withinAnswer(bodyOf(options));
  const words = reading(searchList, { params, body });
  const byWords = useQuery({
    ...words,
    // Repeats the search when the number of records changes.
    queryKey: [...words.queryKey, record_count] as never,
    placeholderData: keepPreviousData,
    enabled: picture === undefined,
  });
  const byPicture = useQuery(readingByPicture(searchImage, params, { picture, options: body }));
  return picture === undefined ? byWords : byPicture;
}
