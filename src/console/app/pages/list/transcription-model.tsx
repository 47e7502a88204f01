import { text } from '../../messages/index.js';
import { useList } from './list-frame.js';
import { ModelChoice } from './model-choice.js';

/** Model that transcribes the list's recordings, if its records link to any. */
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
