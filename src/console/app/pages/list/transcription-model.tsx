import { text } from '../../messages/index.js';
import { useList } from './list-frame.js';
import { ModelChoice } from './model-choice.js';

/** What writes down what is said in the recordings of the list, where its records link to any. */
export function TranscriptionModel() {
  const { resources, transcription_model } = useList();
  return (
    <ModelChoice
      texts={text.recordings}
      chosen={transcription_model ?? null}
      isOfUse={resources.some(({ kind }) => kind === 'video' || kind === 'audio')}
      suits={({ kind }) => kind === 'transcription'}
      change={(name) => ({ transcription_model: name })}
    />
  );
}
