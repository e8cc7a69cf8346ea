/** Rejects a history that a vendor would refuse, or that contains a result twice. */
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';

/** @throws Error that names the first violation */
export function checkTranscript(items: readonly Item[]): void {
  const called = new Set<string>();
  const acknowledged = new Set<string>();
  const delivered = new Set<string>();
  const open: string[] = [];
  items.forEach((item, index) => {
    const where = `item ${index}`;
    if (item.type === 'function_call') {
      if (called.has(item.call_id)) throw new Error(`${where}: The call id ${item.call_id} is used twice.`);
      called.add(item.call_id);
      open.push(item.call_id);
    } else if (item.type === 'function_call_output') {
      if (item.deferred === true) {
        if (open.length > 0) throw new Error(`${where}: A late result precedes the output of ${open.join(', ')}.`);
        if (!acknowledged.has(item.call_id))
          throw new Error(`${where}: There is a late result of ${item.call_id}, which was not acknowledged.`);
      } else {
        const next = open.shift();
        if (next !== item.call_id)
          throw new Error(`${where}: There is an output of ${item.call_id} where ${next ?? 'none'} is due.`);
      }
      if (item.status === 'in_progress') {
        acknowledged.add(item.call_id);
        return;
      }
      if (delivered.has(item.call_id)) throw new Error(`${where}: The result of ${item.call_id} is delivered twice.`);
      delivered.add(item.call_id);
    } else if (item.type === 'message' && item.role === 'user' && open.length > 0) {
      throw new Error(`${where}: The turn continues before ${open.join(', ')} is answered.`);
    }
  });
  if (open.length > 0) throw new Error(`The calls ${open.join(', ')} are not answered.`);
}

/** @throws Error if the later history does not extend the earlier one */
export function checkGrowth(earlier: readonly Item[], later: readonly Item[]): void {
  earlier.forEach((item, index) => {
    if (JSON.stringify(later[index]) !== JSON.stringify(item))
      throw new Error(`Item ${index} of the history was rewritten.`);
  });
}
