import { text } from '../../messages/index.js';
import { isSeen } from '../search/picture-search.js';
import { useList } from './list-frame.js';
import { ModelChoice } from './model-choice.js';

/** Exists without being added. */
const ALWAYS = [{ value: 'built-in', label: text.pictures.builtIn }];

/** Model for the list's pictures, if its records link to any. */
export function PictureModel() {
  const { resources, image_model } = useList();
  return (
    <ModelChoice
      texts={text.pictures}
      chosen={image_model ?? null}
      isOfUse={resources.some(isSeen)}
      always={ALWAYS}
      suits={({ inputs }) => inputs.includes('image')}
      change={(name) => ({ image_model: name })}
    />
  );
}
