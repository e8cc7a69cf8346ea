/** OpenAI's own client steers a response twice while it is written. Prints what comes of it, one event per line. */
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

const [baseURL, model] = process.argv.slice(2);
const socket = new ResponsesWS(new OpenAI({ baseURL }));
const texts = ['Question B', 'Question C'];
let id = '';
socket.on('error', (error) => {
  throw error;
});
socket.on('response.created', ({ response }) => {
  ({ id } = response);
});
socket.on('response.output_text.delta', () => {
  for (const input of texts.splice(0)) socket.send({ type: 'response.steer', previous_response_id: id, input });
});
socket.on('response.steer.accepted', ({ type }) => console.log(type));
socket.on('response.completed', ({ response }) => {
  const [message] = response.output;
  console.log(message.content[0].text);
  if (response.previous_response_id !== null) socket.close();
});
socket.send({ type: 'response.create', model, input: 'Question A' });
