import { runAreas } from '../groups.ts';

runAreas(['cli'], 1, 3);
