/** The header X-Clock, which says that the clock was moved. */
import type { FastifyReply } from 'fastify';
import { type Clock, timestamp } from '../../clock.ts';

/** Set at the beginning, for every kind of response, and again before it is sent, when the time may be known better. */
export function setClockHeader(reply: FastifyReply, clock: Pick<Clock, 'now' | 'advancedMs'>): void {
  if (clock.advancedMs() > 0) {
    reply.header('x-clock', timestamp(clock.now()));
  }
}
