/** Saves a value as a JSON file. */
import { downloadText } from '../components/downloadText';

export function downloadJson(name: string, value: unknown): void {
  downloadText(name, JSON.stringify(value, undefined, 2), 'application/json');
}
