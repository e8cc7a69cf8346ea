/** Open models, wherever they are served. */
import MODELS from './models/open.json';
import { toModelRows } from './ModelRow';

export const OPEN_MODELS = toModelRows(MODELS);
