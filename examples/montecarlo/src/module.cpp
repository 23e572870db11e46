/* The extension module montecarlo._gpu, over Python's stable ABI: one wheel for all versions. */
#define Py_LIMITED_API 0x03080000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "montecarlo/api.h"

/* A failed GPU call becomes RuntimeError with the runtime's own words. */
static PyObject *fail(const char *message)
{
	PyErr_SetString(PyExc_RuntimeError, message);
	return NULL;
}

static PyObject *py_pi(PyObject *self, PyObject *args)
{
	unsigned long long seed;
	Py_ssize_t samples;
	const char *error;
	double pi = 0;
	(void)self;
	if (!PyArg_ParseTuple(args, "Kn", &seed, &samples))
		return NULL;
	if (samples < 1) {
		PyErr_SetString(PyExc_ValueError, "at least one sample is needed");
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	error = mc_pi(seed, (size_t)samples, &pi);
	Py_END_ALLOW_THREADS
	return error ? fail(error) : PyFloat_FromDouble(pi);
}

static PyObject *py_noise(PyObject *self, PyObject *args)
{
	unsigned long long seed;
	Py_ssize_t samples;
	const char *error;
	struct mc_moments m = {0, 0};
	(void)self;
	if (!PyArg_ParseTuple(args, "Kn", &seed, &samples))
		return NULL;
	if (samples < 1) {
		PyErr_SetString(PyExc_ValueError, "at least one sample is needed");
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	error = mc_noise(seed, (size_t)samples, &m);
	Py_END_ALLOW_THREADS
	return error ? fail(error) : Py_BuildValue("dd", m.mean, m.variance);
}

static PyObject *py_devices(PyObject *self, PyObject *args)
{
	int n = 0;
	(void)self;
	(void)args;
	const char *error = mc_devices(&n);
	return error ? fail(error) : PyLong_FromLong(n);
}

static PyMethodDef methods[] = {
	{"pi", py_pi, METH_VARARGS, "pi(seed, samples) -> float"},
	{"noise", py_noise, METH_VARARGS, "noise(seed, samples) -> (mean, variance)"},
	{"devices", py_devices, METH_NOARGS, "devices() -> int"},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "_gpu", "GPU side of montecarlo.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__gpu(void)
{
	return PyModule_Create(&module);
}
