/**
 * Process that only runs models of ONNX folders: a graph that crashes or exhausts memory ends this process, and another
 * takes its place. The library is loaded with the first model.
 */
import { directLine } from '../../platform/hosts/serve-direct-line.js';
import { serveHost } from '../../platform/hosts/serve-host.js';
import { LoadedModels } from './loaded-models.js';
import { OnnxError, type OnnxProtocol, type OnnxRefusal } from './onnx-protocol.js';
import { shortForms } from './short-forms.js';

serveHost<OnnxProtocol>(() => {
  const models = new LoadedModels();
  return {
    answers: {
      describe: ({ model, kind, tokensMax }) => orRefusal(models.describe(model, kind, tokensMax)),
      passages: ({ model, texts, ...options }) =>
        orRefusal(models.passages(model, texts, options).then((passages) => ({ passages }))),
      embed: ({ model, texts, tokensMax }) =>
        orRefusal(models.vectors(model, texts, tokensMax).then((vectors) => ({ vectors }))),
      embedPicture: ({ model, pixels }) =>
        orRefusal(models.pictureVector(model, pixels).then((vector) => ({ vector }))),
      relevances: ({ model, ...asked }) =>
        orRefusal(models.relevances(model, asked).then((relevances) => ({ relevances }))),
    },
    notices: {
      // Errors are reported to the next request for the model.
      load: (model) => void models.load(model).catch(() => undefined),
    },
  };
}, directLine(shortForms));

async function orRefusal<Answer>(answer: Promise<Answer>): Promise<Answer | OnnxRefusal> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof OnnxError) return { fault: error.fault, detail: error.message };
    throw error;
  }
}
