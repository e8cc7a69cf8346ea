/** Bolide as applications load it: the built package, as `npm run build` writes it. */
import { createAIModule, ToolRegistry } from 'bolide';
import type { Contender, Setting } from '../Contender';
import { bolide } from './application';

export function create(setting: Setting): Contender {
  return bolide({ createAIModule, ToolRegistry }, setting);
}
